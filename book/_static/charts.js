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
    parts.forEach((part) => spread(part, width / across, page));
    if (spec.spec) {
      if (spec.columns) spec.columns = fit(spec.columns);
      spread(spec.spec, width / (spec.columns || 1), page);
    } else if (spec.mark || spec.layer) {
      const wrap = facet(spec);
      if (wrap) wrap.columns = fit(wrap.columns || 2);
      spec.width = Math.max(60, width / (wrap ? wrap.columns : 1));
    }
  };

  // A legend is as narrow as its plot there: few columns, one legend below the other.
  const upright = { direction: "vertical" };
  const phone = { columns: 2, gradientLength: 100, layout: { top: upright, bottom: upright } };
  const look = (page) => {
    const theme = tjThemes[scheme()];
    return page < PHONE ? { ...theme, legend: { ...theme.legend, ...phone } } : theme;
  };

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
      for (let tries = 0; tries < 3; tries += 1) {
        const spec = JSON.parse(source);
        spread(spec, width, page);
        result?.finalize();
        result = await embed(target, spec, page);
        // Axes and legends take room that only drawing tells.
        const excess = Number(target.querySelector("svg").getAttribute("width")) - page;
        if (Math.abs(excess) < 3) break;
        width -= excess;
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
