import CSDL2
import MediaDecoding
import Synchronization

/// What other threads hand to the thread of a window: always the newest, and a knock at its door.
final class WindowMailbox: Sendable {
    /// What was handed over since the last look.
    struct Mail {
        var frame: VideoFrame?
        var isCleared = false
        var overlay: OverlayState?
        var announcement: String?
        var needsDrawing = false
    }

    private struct State {
        var mail = Mail()
        var overlay = OverlayState()
        var overlayVersion = 0
        var hasKnocked = false
        var isClosed = false
        var isReadyForDisplay = false
        var counts = WindowFrameCounts()
    }

    private let event: UInt32
    private let state = Mutex(State())

    /// Makes a mailbox.
    ///
    /// - Parameter event: The number of the event that wakes the window.
    init(event: UInt32) {
        self.event = event
    }

    func put(_ frame: VideoFrame) {
        post { state in
            state.counts.received += 1
            if state.mail.frame != nil { state.counts.dropped += 1 }
            state.mail.frame = frame
            state.mail.isCleared = false
            state.isReadyForDisplay = true
        }
    }

    func clear() {
        post { state in
            if state.mail.frame != nil { state.counts.dropped += 1 }
            state.mail.frame = nil
            state.mail.isCleared = true
            state.isReadyForDisplay = false
        }
    }

    /// Changes the overlay; the change is made outside of the lock, and made again where somebody else was faster.
    func update(_ change: (inout OverlayState) -> Void) {
        while true {
            let (before, version) = state.withLock { ($0.overlay, $0.overlayVersion) }
            var overlay = before
            change(&overlay)
            guard overlay != before else { return }
            var isSet = false
            post { state in
                guard state.overlayVersion == version else { return }
                state.overlayVersion += 1
                state.overlay = overlay
                state.mail.overlay = overlay
                isSet = true
            }
            if isSet || isClosed { return }
        }
    }

    func announce(_ text: String) { post { $0.mail.announcement = text } }

    /// Has everything drawn once more.
    func redraw() { post { $0.mail.needsDrawing = true } }

    /// Takes out what is there.
    func take() -> Mail {
        state.withLock { state in
            let mail = state.mail
            state.mail = Mail()
            state.hasKnocked = false
            if mail.frame != nil { state.counts.shown += 1 }
            return mail
        }
    }

    /// Takes nothing more and wakes nobody.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.mail = Mail()
        }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }
    var isReadyForDisplay: Bool { state.withLock { $0.isReadyForDisplay } }
    var counts: WindowFrameCounts { state.withLock { $0.counts } }

    private func post(_ change: (inout sending State) -> Void) {
        let knocks = state.withLock { state in
            guard !state.isClosed else { return false }
            change(&state)
            defer { state.hasKnocked = true }
            return !state.hasKnocked
        }
        guard knocks else { return }
        var message = SDL_Event()
        message.type = event
        SDL_PushEvent(&message)
    }
}

/// What became of the frames that a window was given.
public struct WindowFrameCounts: Sendable, Hashable {
    /// How many came.
    public internal(set) var received = 0
    /// How many the window took and drew.
    public internal(set) var shown = 0
    /// How many were replaced by a newer one before that.
    public internal(set) var dropped = 0
}
