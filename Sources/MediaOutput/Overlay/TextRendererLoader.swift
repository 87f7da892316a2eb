import Foundation
import Synchronization

/// The creation of a text renderer in the background.
///
/// Reading the font list can take a second, during which video would stop.
final class TextRendererLoader: Sendable {
    // Safe: one thread creates the renderer and gives it up, and one other thread takes it, once.
    private struct SendableRenderer: @unchecked Sendable {
        let renderer: TextRenderer
    }

    private enum State {
        case idle
        case working
        case ready(SendableRenderer)
        case failed(OutputError)
    }

    private let state = Mutex(State.idle)
    private let onEnd: @Sendable () -> Void

    /// Creates a preparation without starting it.
    ///
    /// - Parameter onEnd: A closure called on a separate thread when the preparation succeeds or fails.
    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    /// Starts the preparation; further calls have no effect.
    func begin() {
        let isFirst = state.withLock { state in
            guard case .idle = state else { return false }
            state = .working
            return true
        }
        guard isFirst else { return }
        Thread.detachNewThread { [self] in
            do throws(OutputError) {
                let text = try TextRenderer()
                text.preloadFonts()
                let sendable = SendableRenderer(renderer: text)
                state.withLock { $0 = .ready(sendable) }
            } catch {
                state.withLock { $0 = .failed(error) }
            }
            onEnd()
        }
    }

    /// Returns the renderer, once; `nil` if it is not ready or was taken already.
    ///
    /// - Throws: ``OutputError``, once, if no renderer could be created.
    func take() throws(OutputError) -> TextRenderer? {
        let (sendable, failure) = state.withLock { state -> (SendableRenderer?, OutputError?) in
            switch state {
            case .idle, .working: return (nil, nil)
            case .ready(let sendable):
                state = .working
                return (sendable, nil)
            case .failed(let error):
                state = .working
                return (nil, error)
            }
        }
        if let failure { throw failure }
        return sendable?.renderer
    }
}
