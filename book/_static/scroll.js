// Lets a key reach a box that scrolls sideways: one that hides something can be focused. The theme
// looks when the window changes, and so misses what is unfolded or drawn later.
"use strict";

(() => {
  const BOXES = ".tj-math, .bd-article pre, .cell_output > .output, .pst-scrollable-table-container";

  const look = ({ target: box }) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  };

  const sizes = new ResizeObserver((changes) => changes.forEach(look));
  document.querySelectorAll(BOXES).forEach((box) => sizes.observe(box));
})();
