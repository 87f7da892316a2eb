import Synchronization

/// A stack of video outputs for one player; the most recently attached output shows the frames.
///
/// When that output is detached, the previous one shows the frames again, starting with the current frame.
public final class VideoOutputStack: VideoOutput {
    /// A token that identifies an attached output, for ``VideoOutputStack/detach(_:)``.
    public struct Attachment: Sendable, Hashable {
        fileprivate let number: Int
    }

    private struct State {
        var outputs: [(number: Int, output: any VideoOutput)] = []
        var count = 0
        var current: VideoFrame?
    }

    private let state = Mutex(State())

    /// Creates a stack without outputs.
    public init() {}

    /// A Boolean value that indicates whether an output is attached and there is a current frame.
    ///
    /// The value is false again after ``clear()``.
    public var isReadyForDisplay: Bool { state.withLock { !$0.outputs.isEmpty && $0.current != nil } }

    /// The frame that is shown now; `nil` before the first one and after ``clear()``.
    public var currentFrame: VideoFrame? { state.withLock { $0.current } }

    /// A Boolean value that indicates whether no output is attached, in which case frames need not be converted or
    /// passed on.
    public var isEmpty: Bool { state.withLock { $0.outputs.isEmpty } }

    /// Attaches an output, which shows the frames in place of those attached before, starting with the current frame.
    ///
    /// - Parameter output: The output, such as a window.
    /// - Returns: A token for ``detach(_:)``.
    /// - Throws: The error of the output for the current frame; the output is attached nevertheless.
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

    /// Detaches and clears an output; there is no effect if it is already detached.
    ///
    /// - Parameter attachment: The token that ``attach(_:)`` returned.
    /// - Throws: The error of the output that shows the current frame instead.
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

    /// Shows a frame on the most recently attached output.
    public func show(_ frame: VideoFrame) throws {
        let output = state.withLock { state in
            state.current = frame
            return state.outputs.last?.output
        }
        try output?.show(frame)
    }

    /// Clears the most recently attached output.
    public func clear() {
        let output = state.withLock { state in
            state.current = nil
            return state.outputs.last?.output
        }
        output?.clear()
    }

    /// Finishes all outputs, the most recently attached one first.
    ///
    /// - Throws: The first error of an output; the other outputs are finished nevertheless.
    public func finish() throws {
        let outputs = state.withLock { $0.outputs.reversed().map(\.output) }
        var failure: (any Error)?
        for output in outputs {
            do { try output.finish() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
