// The messages in the corner of the page. They are a live region, so screen readers read them aloud.

import { createElement, createIcon, setTextWithURLs } from './element.js';

const displaySeconds = 7;
const maximumMessages = 4;

const region = document.getElementById('messages');

/**
 * Shows a message that disappears by itself. `type` is "info", "success" or "error".
 *
 * With `isVisible` false, the message is only read aloud, because the page already shows it elsewhere.
 */
export function showMessage(text, { type = 'info', isVisible = true } = {}) {
    // A new message of the type “info” replaces the previous one.
    if (type === 'info') for (const previous of region.querySelectorAll('[data-type=info]')) previous.remove();
    const message = addMessage(text, type);
    message.classList.toggle('visually-hidden', !isVisible);
    setTimeout(() => message.remove(), displaySeconds * 1000);
}

/**
 * Shows an error until the user dismisses it, or `dismissErrors` is called for its subject: the kind of action that failed, such as
 * “conditions”. It replaces the previous error with this subject.
 */
export function showError(text, subject) {
    dismissErrors(subject);
    addMessage(text, 'error').dataset.subject = subject;
}

/** Removes the errors with a subject, because an action of this kind has succeeded since. */
export function dismissErrors(subject) {
    for (const message of [...region.children]) {
        if (message.dataset.subject === subject) message.remove();
    }
}

function addMessage(text, type) {
    const paragraph = createElement('p');
    setTextWithURLs(paragraph, text);
    const message = createElement(
        'div',
        { class: 'message', dataset: { type } },
        paragraph,
        createElement(
            'button',
            { type: 'button', class: 'borderless', 'aria-label': 'Dismiss', onclick: () => message.remove() },
            createIcon('cancel'),
        ),
    );
    region.append(message);
    while (region.childElementCount > maximumMessages) region.firstElementChild.remove();
    return message;
}
