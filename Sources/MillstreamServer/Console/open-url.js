// "Play any stream": an address pasted by a person. Which addresses may be read is for the server to say.

import { inspect } from './api.js';
import { setProseOrHide } from './element.js';
import { titleOfAddress } from './format.js';
import { sentenceOf } from './sentence.js';
import { announce } from './status.js';

const form = document.getElementById('open-url');
const field = document.getElementById('open-url-field');
const problem = document.getElementById('open-url-problem');

export function followOpenURL(inventory, player, actions) {
    form.addEventListener('submit', async (event) => {
        event.preventDefault();
        const source = addressGiven();
        if (!source) return;
        // Asked first, because the reason of a refusal belongs here, beside the field.
        try {
            await inspect(source);
        } catch (error) {
            show(sentenceOf(error));
            announce(`This address cannot be played. ${sentenceOf(error)}`, { tone: 'problem', spoken: true });
            return;
        }
        const stream = inventory.streamAt(source);
        player.playRemote({ title: titleFor(source), source, poster: stream?.poster, stream: stream?.id });
    });

    form.querySelector('[data-action=keep-url]').addEventListener('click', async () => {
        const source = addressGiven();
        if (source) await actions.download(source, titleFor(source));
    });

    field.addEventListener('input', () => show(''));

    function titleFor(source) {
        return inventory.streamAt(source)?.name ?? titleOfAddress(source);
    }
}

function addressGiven() {
    const source = field.value.trim();
    const reason = source === '' ? 'Paste the address of a playlist first.'
        : /^https?:\/\/[^/]/i.test(source) ? '' : 'An address begins with http:// or https://.';
    show(reason);
    if (!reason) return source;
    field.focus();
    announce(reason, { tone: 'problem', spoken: true });
    return '';
}

function show(text) {
    setProseOrHide(problem, text);
    field.setAttribute('aria-invalid', String(Boolean(text)));
}
