// The files that the page carries are compressed; where the browser can, they are saved as they were before.
(() => {
  if (!("DecompressionStream" in window)) return;
  const save = async link => {
    const plain = await Page.unpacked(link.href.split(",")[1], "gzip").arrayBuffer();
    const file = new Blob([plain], { type: link.dataset.kind });
    const saved = Page.made("a", { href: URL.createObjectURL(file), download: link.dataset.plain });
    saved.click();
    setTimeout(() => URL.revokeObjectURL(saved.href), 60000);
  };
  for (const link of document.querySelectorAll(".downloads a")) {
    link.addEventListener("click", event => {
      event.preventDefault();
      save(link);
    });
  }
})();
