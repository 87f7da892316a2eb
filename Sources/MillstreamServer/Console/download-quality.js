// Which variants a download keeps: chosen once for the page and remembered.

const storageKey = 'millstream.download-quality';
const select = document.getElementById('download-quality');

export function rememberDownloadQuality() {
    const remembered = readStorage();
    if ([...select.options].some((option) => option.value === remembered)) select.value = remembered;
    select.addEventListener('change', () => {
        try {
            localStorage.setItem(storageKey, select.value);
        } catch {
            // Storage is switched off; the choice then lasts as long as the page.
        }
    });
}

function readStorage() {
    try {
        return localStorage.getItem(storageKey);
    } catch {
        return null;
    }
}

/** The choice as a download request says it. */
export function chosenQuality() {
    const height = Number(select.value);
    return height > 0 ? { variants: 'best', maxHeight: height } : { variants: select.value };
}
