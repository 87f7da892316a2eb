// Copies URLs to the clipboard.

import { createElement } from './element.js';
import { dismissErrors, showError, showMessage } from './messages.js';

/** Copies a URL, and says whether it was copied. */
export async function copyURL(url) {
    if (!await writeToClipboard(url)) {
        showError('The URL could not be copied. Copy the address of the link with the menu of the browser.', 'copy');
        return;
    }
    dismissErrors('copy');
    showMessage('The URL was copied.');
}

async function writeToClipboard(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        // The clipboard API requires a secure context. Plain HTTP from another machine is not secure.
        const focused = document.activeElement;
        const field = createElement('textarea', { readonly: true, 'aria-hidden': 'true' });
        field.value = text;
        document.body.append(field);
        field.select();
        const isCopied = document.execCommand('copy');
        field.remove();
        focused?.focus();
        return isCopied;
    }
}
