"""Charts as inline SVG: scales, axes and marks. Colors are CSS classes, so that one drawing serves light and dark."""
