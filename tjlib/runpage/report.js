"use strict";
// Makes the heads of the table sort it. Without this script the table stands by risk.
const table = document.getElementById("ranking");
const heads = [...table.tHead.rows[0].cells];
heads.forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") !== "descending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const text = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent.trim();
    const order = (a, b) => {
      const [x, y] = [text(a), text(b)];
      if (x === "" || y === "") return (x === "") - (y === "");  // what is not known stays last
      const way = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
      return falling ? -way : way;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
  });
});
const all = document.getElementById("open-all");
if (all) {
  const runs = [...document.querySelectorAll("details.run")];
  all.hidden = false;
  all.addEventListener("click", () => {
    const open = !runs.every((run) => run.open);
    runs.forEach((run) => { run.open = open; });
    all.textContent = open ? "Close all runs" : "Open all runs";
  });
}
