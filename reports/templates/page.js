"use strict";
// Escape closes what a badge says, until one points at it or comes to it again.
document.addEventListener("keydown", event => {
  if (event.key !== "Escape") return;
  for (const badge of document.querySelectorAll(".badge:is(:hover, :focus)")) {
    badge.classList.add("closed");
    for (const name of ["pointerenter", "focus", "click", "blur"])
      badge.addEventListener(name, () => badge.classList.remove("closed"), { once: true });
  }
});
