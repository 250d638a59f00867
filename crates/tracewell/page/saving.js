// Saves the picture of the timeline as a file, and copies the address of the view.

/**
 * Saves overview and timeline as a PNG file.
 * @param {HTMLCanvasElement[]} canvases from top to bottom
 * @param {string} title of the trace
 */
export function savePicture(canvases, title) {
    const whole = document.createElement("canvas");
    whole.width = Math.max(...canvases.map((canvas) => canvas.width));
    whole.height = canvases.reduce((sum, canvas) => sum + canvas.height, 0);
    const ink = /** @type {CanvasRenderingContext2D} */ (whole.getContext("2d"));
    let top = 0;
    for (const canvas of canvases) {
        ink.drawImage(canvas, 0, top);
        top += canvas.height;
    }
    whole.toBlob((blob) => {
        if (!blob) return;
        const link = document.createElement("a");
        link.href = URL.createObjectURL(blob);
        link.download = `${title}.png`;
        link.click();
        // The browser reads the file some time after the click, so its address must stay valid.
        setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    });
}

/** Copies the address of the view. Returns a message about the result. */
export async function copyAddress() {
    try {
        await navigator.clipboard.writeText(location.href);
        return "address copied";
    } catch {
        return "the browser does not permit copying: copy the address from its address bar";
    }
}
