// Copies URLs to the clipboard.

import { fetchRequiresSignature, fetchSignedURL } from './api.js';
import { createElement } from './element.js';
import { errorMessage } from './error-message.js';
import { dismissErrors, showError, showMessage } from './messages.js';

// Known before the first click, because some browsers permit access to the clipboard only directly after a click.
const requiresSignature = fetchRequiresSignature().catch(() => true);

/** Copies a playback URL of this server, with a signature if the server admits only signed URLs. */
export async function copyPlaybackURL(url) {
    let admitted = url;
    try {
        if (await requiresSignature) admitted = await fetchSignedURL(url, { isFile: false });
    } catch (error) {
        showError(`The URL could not be copied. ${errorMessage(error)}`, 'copy');
        return;
    }
    await copyURL(new URL(admitted, location.href).href);
}

/** Copies a URL, and says whether it was copied. */
async function copyURL(url) {
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
        try {
            return document.execCommand('copy');
        } catch {
            return false;
        } finally {
            field.remove();
            focused?.focus();
        }
    }
}
