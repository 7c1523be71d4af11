// On a page of many runs, what their lines open to lies deflated in one template, in the order of the lines, and is put in
// place when a line is opened. It is the page's own markup, escaped where it was made.
(() => {
  const packed = document.getElementById("packed-evidence");
  if (!packed) return;
  document.getElementById("not-unpacked").remove();
  const places = [...document.querySelectorAll(".runs .evidence")];
  let cards = null;

  const unpack = async () => (await Page.unpacked(packed.content.textContent).text()).split("<!---->");

  const fill = async line => {
    const place = line.querySelector(".evidence"), number = places.indexOf(place);
    cards ??= unpack();
    if (number < 0 || place.hasChildNodes()) return;
    place.innerHTML = (await cards)[number];
    // The browser went to a linked run when the page still ended behind it.
    if (location.hash === `#${place.id}`) place.scrollIntoView();
  };

  // A link to a run may have opened its line before this script ran; the event of a line does not rise to its parents.
  for (const line of document.querySelectorAll(".runs > details[open]")) fill(line);
  document.addEventListener("toggle", event => event.target.open && fill(event.target), true);
})();
