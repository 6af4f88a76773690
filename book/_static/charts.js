// Turns each chart's picture into an interactive chart. The picture stays on
// the page for print, and stays in view when anything here fails.
"use strict";

(() => {
  const CELL = 260; // px: the narrowest small multiple that can still be read
  const PHONE = 560; // px: below this, charts side by side go below each other

  const scheme = () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light");

  // A chart carries its data: nothing is ever fetched.
  const refuse = () => Promise.reject(new Error("charts carry their own data"));
  const closed = { load: refuse, sanitize: refuse, http: refuse, file: refuse };

  const facet = (spec) => spec.encoding?.facet;

  // Spread a width in px over the plots of a chart.
  const spread = (spec, width, page) => {
    if (spec.hconcat && page < PHONE) {
      spec.vconcat = spec.hconcat;
      delete spec.hconcat;
    }
    const parts = spec.hconcat || spec.vconcat || spec.concat || [];
    const fit = (most) => Math.max(1, Math.min(most, Math.floor(page / CELL)));
    if (spec.concat) spec.columns = fit(spec.columns || parts.length);
    const across = spec.hconcat ? parts.length : spec.concat ? spec.columns : 1;
    parts.forEach((part) => {
      if (page < PHONE && part.title?.anchor) part.title.anchor = "end"; // see `phone`
      spread(part, width / across, page);
    });
    if (spec.spec) {
      if (spec.columns) spec.columns = fit(spec.columns);
      // Rows shared by one column stand beside the panels' names, which may lie over its own.
      if (spec.columns === 1)
        spec.resolve = { ...spec.resolve, axis: { ...spec.resolve?.axis, y: "independent" } };
      spread(spec.spec, width / (spec.columns || 1), page);
    } else if (spec.mark || spec.layer) {
      const wrap = facet(spec);
      if (wrap) wrap.columns = fit(wrap.columns || 2);
      spec.width = Math.max(60, width / (wrap ? wrap.columns : 1));
    }
  };

  // There, what is longer than its plot is wide ends where the plot does, over the room of the
  // rows' names: a legend, of few columns and one below the other, a panel's name, an axis title.
  const upright = { anchor: "end", direction: "vertical" };
  const phone = {
    axisX: { titleAnchor: "end" },
    header: { labelAnchor: "end" },
    legend: { columns: 2, gradientLength: 100, layout: { top: upright, bottom: upright } },
  };
  const look = (page) => {
    const theme = { ...tjThemes[scheme()], aria: false };
    if (page < PHONE)
      Object.entries(phone).forEach(([part, more]) => (theme[part] = { ...theme[part], ...more }));
    return theme;
  };
  // A legend that says how many columns it has is too wide in that many.
  const narrow = (key, value) => (key === "legend" && value ? { ...value, columns: 1 } : value);

  const embed = (target, spec, page) =>
    vegaEmbed(target, spec, {
      mode: "vega-lite",
      renderer: "svg",
      actions: false,
      config: look(page),
      loader: closed,
      tooltip: { theme: scheme() },
    });

  const draw = async (figure) => {
    const page = Math.floor(figure.clientWidth);
    if (!page) return;
    const source = figure.querySelector('script[type="application/json"]').textContent;
    const target = document.createElement("div");
    target.className = "tj-live";
    const round = (figure.tjRound = (figure.tjRound || 0) + 1);
    try {
      let result;
      let width = page - 60;
      for (let tries = 0; tries < 4; tries += 1) {
        const spec = JSON.parse(source, tries > 1 && page < PHONE ? narrow : undefined);
        spread(spec, width, page);
        result?.finalize();
        result = await embed(target, spec, page);
        // To the ear a drawing is one image: its sentence, and the table below, say what is in it.
        target.setAttribute("role", "img");
        target.querySelector("svg").setAttribute("aria-hidden", "true");
        // Axes and legends take room that only drawing tells.
        const excess = Number(target.querySelector("svg").getAttribute("width")) - page;
        if (excess <= 0 && excess > -4) break;
        width -= excess + 1; // a drawing too wide would be shrunk, its words with it
      }
      if (figure.tjRound !== round) return result.finalize();
      figure.tjResult?.finalize();
      figure.tjResult = result;
      figure.querySelector(".tj-live")?.remove();
      figure.querySelector("img").after(target);
      figure.classList.add("tj-drawn");
    } catch {
      figure.querySelector(".tj-live")?.remove();
      figure.classList.remove("tj-drawn");
    }
  };

  const start = () => {
    const figures = [...document.querySelectorAll(".tj-chart")];
    if (typeof vegaEmbed === "undefined") return;
    const drawn = new WeakMap();
    let timer;
    const settle = () =>
      figures.forEach((figure) => {
        if (drawn.get(figure) === figure.clientWidth) return;
        drawn.set(figure, figure.clientWidth);
        draw(figure);
      });
    const sizes = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(settle, 100);
    });
    figures.forEach((figure) => sizes.observe(figure));
    new MutationObserver(() => figures.forEach(draw)).observe(document.documentElement, {
      attributeFilter: ["data-theme"],
    });
  };

  start();
})();
