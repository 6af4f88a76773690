// Gives a table its menus and its sorting. Without this script every row stands.
"use strict";

(() => {
  const ALL = "all";
  const text = (cell) => (cell.firstChild?.textContent ?? "").trim();
  const number = (cell) => Number.parseFloat(text(cell).replace(/,(?=\d{3})/g, ""));

  const menu = (name, values, chosen, change) => {
    const label = document.createElement("label");
    const select = document.createElement("select");
    [ALL, ...values].forEach((value) => select.add(new Option(value, value)));
    select.value = chosen || ALL;
    select.addEventListener("change", change);
    label.append(`${name} `, select);
    return { label, select };
  };

  const order = (body, rows, at, down) => {
    const sign = down ? -1 : 1;
    const counted = rows.filter((row) => !Number.isNaN(number(row.cells[at]))).length;
    const numeric = counted > rows.length / 4;
    const sorted = [...rows].sort((a, b) => {
      if (!numeric) return sign * text(a.cells[at]).localeCompare(text(b.cells[at]));
      const [x, y] = [number(a.cells[at]), number(b.cells[at])];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return sign * (x - y);
    });
    body.append(...sorted);
  };

  const start = (figure) => {
    const pick = JSON.parse(figure.dataset.pick);
    const table = figure.querySelector("table");
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const rows = [...body.rows];
    const at = Object.fromEntries(heads.map((head, i) => [head.textContent, i]));
    const told = document.createElement("p");
    told.setAttribute("role", "status");

    const hide = (column, yes) =>
      [heads[column], ...rows.map((row) => row.cells[column])].forEach((cell) => {
        cell.hidden = Boolean(yes);
      });

    const apply = () => {
      let shown = 0;
      rows.forEach((row) => {
        row.hidden = menus.some(
          ({ name, select }) => select.value !== ALL && text(row.cells[at[name]]) !== select.value,
        );
        shown += !row.hidden;
      });
      const one = only?.select.value ?? ALL;
      pick.columns.forEach((name) => hide(at[name], one !== ALL && name !== one));
      // What one menu says of all rows need not stand in each, but for the rows' own name.
      menus.forEach(({ name, select }) => hide(at[name], at[name] && select.value !== ALL));
      told.textContent = `${shown} of ${rows.length} rows`;
    };

    const menus = Object.entries(pick.rows).map(([name, chosen]) => {
      const values = [...new Set(rows.map((row) => text(row.cells[at[name]])))];
      return { name, ...menu(name, values, chosen, apply) };
    });
    const only = pick.columns.length ? menu("method", pick.columns, ALL, apply) : null;

    heads.forEach((head, i) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        order(body, rows, i, down);
      });
      head.replaceChildren(button);
    });

    const controls = document.createElement("div");
    controls.className = "tj-picks";
    controls.append(...[...menus, only].filter(Boolean).map(({ label }) => label), told);
    figure.querySelector("figcaption").after(controls);
    apply();
  };

  document.querySelectorAll(".tj-pick").forEach(start);
})();
