import CSDL2
import MediaDecoding
import Synchronization

/// The transfer of the latest frame and overlay from any thread to the thread of a window, which it wakes.
final class WindowMailbox: Sendable {
    /// The values received since the last call of ``WindowMailbox/take()``.
    struct Contents {
        var frame: VideoFrame?
        var isCleared = false
        var overlay: OverlayState?
        var announcement: String?
        var title: String?
        var needsDrawing = false
    }

    private struct State {
        var contents = Contents()
        var overlay = OverlayState()
        var overlayVersion = 0
        var hasPostedEvent = false
        var isClosed = false
        var isReadyForDisplay = false
        var counts = WindowFrameCounts()
    }

    private let event: UInt32
    private let state = Mutex(State())

    /// Creates a mailbox.
    ///
    /// - Parameter event: The SDL event type that wakes the window.
    init(event: UInt32) {
        self.event = event
    }

    func put(_ frame: VideoFrame) {
        post { state in
            state.counts.received += 1
            if state.contents.frame != nil { state.counts.dropped += 1 }
            state.contents.frame = frame
            state.contents.isCleared = false
            state.isReadyForDisplay = true
        }
    }

    func clear() {
        post { state in
            if state.contents.frame != nil { state.counts.dropped += 1 }
            state.contents.frame = nil
            state.contents.isCleared = true
            state.isReadyForDisplay = false
        }
    }

    /// Changes the overlay; the closure runs outside of the lock, and again if another thread has changed the overlay
    /// meanwhile.
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
                state.contents.overlay = overlay
                isSet = true
            }
            if isSet || isClosed { return }
        }
    }

    func announce(_ text: String) { post { $0.contents.announcement = text } }

    func setTitle(_ title: String) { post { $0.contents.title = title } }

    /// Requests that the window is drawn again.
    func redraw() { post { $0.contents.needsDrawing = true } }

    /// Removes and returns the received values.
    func take() -> Contents {
        state.withLock { state in
            let mail = state.contents
            state.contents = Contents()
            state.hasPostedEvent = false
            if mail.frame != nil { state.counts.shown += 1 }
            return mail
        }
    }

    /// Rejects further values and no longer wakes the window.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.contents = Contents()
        }
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }
    var isReadyForDisplay: Bool { state.withLock { $0.isReadyForDisplay } }
    var counts: WindowFrameCounts { state.withLock { $0.counts } }

    private func post(_ change: (inout sending State) -> Void) {
        let mustPostEvent = state.withLock { state in
            guard !state.isClosed else { return false }
            change(&state)
            defer { state.hasPostedEvent = true }
            return !state.hasPostedEvent
        }
        guard mustPostEvent else { return }
        var message = SDL_Event()
        message.type = event
        SDL_PushEvent(&message)
    }
}

/// The numbers of frames that a window has received, shown and dropped.
public struct WindowFrameCounts: Sendable, Hashable {
    /// The number of frames received.
    public internal(set) var received = 0
    /// The number of frames that the window has taken for drawing.
    public internal(set) var shown = 0
    /// The number of frames that were replaced or cleared before that.
    public internal(set) var dropped = 0
}
