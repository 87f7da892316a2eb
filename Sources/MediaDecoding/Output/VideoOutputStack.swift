import Synchronization

/// Several outputs for one player, of which the newest shows the picture.
///
/// When the newest one goes, the one before it shows again, beginning with the frame that is on the screen.
public final class VideoOutputStack: VideoOutput {
    /// What takes an output out of the stack again.
    public struct Attachment: Sendable, Hashable {
        fileprivate let number: Int
    }

    private struct State {
        var outputs: [(number: Int, output: any VideoOutput)] = []
        var count = 0
        var current: VideoFrame?
    }

    private let state = Mutex(State())

    /// Makes a stack without outputs.
    public init() {}

    /// Whether an output is there and the first frame for it has come.
    ///
    /// False again after ``clear()``.
    public var isReadyForDisplay: Bool { state.withLock { !$0.outputs.isEmpty && $0.current != nil } }

    /// Whether there is an output at all; without one nothing needs to be converted or handed over.
    public var isEmpty: Bool { state.withLock { $0.outputs.isEmpty } }

    /// Lets an output show the picture instead of those that were attached before, from the current frame on.
    ///
    /// - Parameter output: A window, say.
    /// - Returns: What ``detach(_:)`` takes.
    /// - Throws: What the output throws on the current frame; it is attached all the same.
    @discardableResult
    public func attach(_ output: any VideoOutput) throws -> Attachment {
        let (attachment, replaced, frame) = state.withLock { state in
            let replaced = state.outputs.last?.output
            state.count += 1
            state.outputs.append((state.count, output))
            return (Attachment(number: state.count), replaced, state.current)
        }
        replaced?.clear()
        if let frame { try output.show(frame) }
        return attachment
    }

    /// Takes an output out and clears it; one that is already out stays out.
    ///
    /// - Parameter attachment: What ``attach(_:)`` returned.
    /// - Throws: What the output that shows from now on throws on the current frame.
    public func detach(_ attachment: Attachment) throws {
        let (removed, next, frame) = state.withLock { state -> ((any VideoOutput)?, (any VideoOutput)?, VideoFrame?) in
            guard let index = state.outputs.firstIndex(where: { $0.number == attachment.number }) else {
                return (nil, nil, nil)
            }
            let wasShowing = index == state.outputs.count - 1
            let removed = state.outputs.remove(at: index).output
            return (removed, wasShowing ? state.outputs.last?.output : nil, state.current)
        }
        removed?.clear()
        if let next, let frame { try next.show(frame) }
    }

    /// Shows a frame on the newest output.
    public func show(_ frame: VideoFrame) throws {
        let output = state.withLock { state in
            state.current = frame
            return state.outputs.last?.output
        }
        try output?.show(frame)
    }

    /// Clears the newest output.
    public func clear() {
        let output = state.withLock { state in
            state.current = nil
            return state.outputs.last?.output
        }
        output?.clear()
    }

    /// Finishes every output, the newest first.
    ///
    /// - Throws: The first error of any; the others are finished all the same.
    public func finish() throws {
        let outputs = state.withLock { $0.outputs.reversed().map(\.output) }
        var failure: (any Error)?
        for output in outputs {
            do { try output.finish() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
