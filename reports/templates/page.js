"use strict";
// What several sections call.
const Page = {
  // A sentence of Python's with its placeholders filled in; one without a value stays.
  filled: (sentence, values) => sentence.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole),

  // An element of the page, or of a drawing, with its attributes and what is in it.
  made: (name, attributes, ...children) => Page.with(document.createElement(name), attributes, children),
  drawn: (name, attributes, ...children) =>
    Page.with(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children),
  with: (element, attributes, children) => {
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  },

  // format_number of records/units.py.
  number: value => value === 0 ? "0" : Number(value.toPrecision(3)).toLocaleString("en-US",
    { maximumFractionDigits: Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))) }),

  // What base64 of compressed bytes holds, as a Response: its text, its JSON, its bytes.
  unpacked: (packed, form = "deflate") => {
    const bytes = Uint8Array.from(atob(packed), character => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream(form)));
  },
};

// Escape closes what a badge says, until one points at it or comes to it again.
document.addEventListener("keydown", event => {
  if (event.key !== "Escape") return;
  for (const badge of document.querySelectorAll(".badge:is(:hover, :focus)")) {
    badge.classList.add("closed");
    for (const name of ["pointerenter", "focus", "click", "blur"])
      badge.addEventListener(name, () => badge.classList.remove("closed"), { once: true });
  }
});
