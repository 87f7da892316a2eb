// The form that plays or downloads the stream at a URL. The server decides which URLs it may load.

import { inspectStream } from './api.js';
import { setTextWithURLsOrHide } from './element.js';
import { errorMessage } from './error-message.js';
import { titleForURL } from './format.js';
import { showMessage } from './messages.js';

const form = document.getElementById('open-url');
const field = document.getElementById('open-url-field');
const fieldError = document.getElementById('open-url-error');

export function handleOpenURL(store, player, actions) {
    form.addEventListener('submit', async (event) => {
        event.preventDefault();
        const source = validatedURL();
        if (!source) return;
        let isFile;
        // Inspected first, so that the reason for a refusal is shown next to the field.
        try {
            isFile = (await inspectStream(source)).kind === 'file';
        } catch (error) {
            setFieldError(errorMessage(error));
            showMessage(`The stream cannot be played. ${errorMessage(error)}`, { type: 'error', isVisible: false });
            return;
        }
        const stream = store.streamForURL(source);
        player.playRemote({ title: titleFor(source), source, poster: stream?.poster, stream: stream?.id, isFile });
    });

    form.querySelector('[data-action=download-url]').addEventListener('click', async () => {
        const source = validatedURL();
        if (source) await actions.download(source, titleFor(source));
    });

    field.addEventListener('input', () => setFieldError(''));
    // The hint of an earlier attempt says nothing about a stream that was selected since.
    player.addEventListener('select', () => setFieldError(''));

    function titleFor(source) {
        return store.streamForURL(source)?.name ?? titleForURL(source);
    }
}

/** Returns the URL in the field, or an empty string after showing what is wrong with it. */
function validatedURL() {
    const source = field.value.trim();
    const error = source === '' ? 'Enter the URL of a playlist or a media file.'
        : /^https?:\/\/[^/]/i.test(source) ? '' : 'The URL must start with http:// or https://.';
    setFieldError(error);
    if (!error) return source;
    field.focus();
    showMessage(error, { type: 'error', isVisible: false });
    return '';
}

function setFieldError(text) {
    setTextWithURLsOrHide(fieldError, text);
    field.setAttribute('aria-invalid', String(Boolean(text)));
}
