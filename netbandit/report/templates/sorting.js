// A click on a heading, or Enter on it, sorts its table; another turns the order round. What is missing stays last.
(() => {
  "use strict";
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const order = (one, other) => (typeof one === "number" && typeof other === "number" ? one - other : compare(one, other));
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.textContent.trim();
    return "key" in cell.dataset ? Number(cell.dataset.key) : text === "–" || text === "" ? null : text;
  };

  function sort(table, column) {
    const heading = table.tHead.rows[0].cells[column];
    const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows].map((row) => [key(row, column), row]);
    rows.sort(([one], [other]) => (one === null || other === null ? (one === null) - (other === null) : sign * order(one, other)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((heading, column) => {
      const cells = [...table.tBodies[0].rows].map((row) => row.cells[column]);
      if (cells.some((cell) => cell.classList.contains("number"))) heading.classList.add("number");
      if (cells.length < 2) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, column));
      heading.append(button);
    });
  }
})();
