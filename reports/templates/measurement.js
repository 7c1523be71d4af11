// The files that the page carries are compressed; where the browser can, they are saved as they were before.
(() => {
  if (!("DecompressionStream" in window)) return;
  const save = async link => {
    const packed = Uint8Array.from(atob(link.href.split(",")[1]), letter => letter.charCodeAt(0));
    const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const file = new Blob([await new Response(plain).arrayBuffer()], { type: link.dataset.kind });
    const saved = document.createElement("a");
    saved.href = URL.createObjectURL(file);
    saved.download = link.dataset.plain;
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
