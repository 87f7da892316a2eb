// The menu for the variants to download, which applies to all downloads and is saved in the browser.

const storageKey = 'millstream.download-quality';
const select = document.getElementById('download-quality');

/** Restores the saved quality, and saves each change. */
export function restoreDownloadQuality() {
    const saved = readStorage();
    if ([...select.options].some((option) => option.value === saved)) select.value = saved;
    select.addEventListener('change', () => {
        try {
            localStorage.setItem(storageKey, select.value);
        } catch {
            // Storage is disabled: the selection lasts until the page is closed.
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

/** Returns the selected quality as parameters of a download request. */
export function selectedQuality() {
    const height = Number(select.value);
    return height > 0 ? { variants: 'best', maxHeight: height } : { variants: select.value };
}
