// The table of instance types: heads that sort, filters, and some rows of each workload until the reader asks for all.
(() => {
  const table = document.querySelector("table.instances");
  if (!table) return;
  const body = table.tBodies[0], rows = [...body.rows], ofEach = +table.dataset.ofEach;
  const form = document.querySelector(".filters"), count = form.querySelector("output");
  const more = document.querySelector(".more"), button = more.querySelector("button");
  const nothing = document.querySelector(".nothing");
  let all = false;

  const fits = row => {
    const asked = name => form.elements[name]?.value ?? "";
    const named = ["workload", "provider", "gpu"].every(name => !asked(name) || row.dataset[name] === asked(name));
    const spot = asked("price") === "spot", price = row.dataset[spot ? "spot" : "hour"];
    const inRange = (!asked("least") || +price >= +asked("least")) && (!asked("most") || +price <= +asked("most"));
    const needsPrice = spot || asked("least") || asked("most");
    return named && (!needsPrice || (price !== undefined && inRange));
  };

  const show = () => {
    const fitting = rows.filter(fits), counts = {};
    const most = form.elements.workload?.value ? ofEach * form.elements.workload.options.length : ofEach;
    const shown = all ? fitting : fitting.filter(({ dataset: { workload } }) => {
      counts[workload] = (counts[workload] ?? 0) + 1;
      return counts[workload] <= most;
    });
    for (const row of rows) row.hidden = true;
    for (const row of shown) row.hidden = false;
    count.textContent = Page.filled(count.dataset.said, { shown: shown.length, all: rows.length });
    more.hidden = !fitting.length || (!all && shown.length === fitting.length);
    nothing.hidden = fitting.length > 0;
    button.textContent = all ? button.dataset.few : Page.filled(button.dataset.all, { count: fitting.length });
  };

  // The unknown last, whichever way.
  const byNumber = (one, other, key, down) => {
    const a = one.dataset[key], b = other.dataset[key];
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    return (a - b) * (down ? -1 : 1);
  };

  // What a row is sorted by: a number where the head has one, else the text as people read it. Rows that are alike stay
  // in the order that they had.
  const sort = (head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending", key = head.dataset.key;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const text = row => row.cells[column].textContent;
    const isNumber = rows.some(row => row.dataset[key] !== undefined);
    const byText = (one, other) => text(one).localeCompare(text(other), undefined, { numeric: true });
    rows.sort((one, other) => isNumber ? byNumber(one, other, key, down) : byText(one, other) * (down ? -1 : 1));
    body.append(...rows);
    show();
  };

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (!head.dataset.key) return;
    const sorter = Page.made("button", { type: "button" }, ...head.childNodes);
    sorter.addEventListener("click", () => sort(head, column));
    head.append(sorter);
  });
  form.addEventListener("input", show);
  form.addEventListener("submit", event => event.preventDefault());
  button.addEventListener("click", () => { all = !all; show(); });
  nothing.querySelector("button").addEventListener("click", () => { form.reset(); show(); });
  form.hidden = false;
  show();
})();
