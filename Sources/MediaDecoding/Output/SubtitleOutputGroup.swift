public import SegmentFormat
import Synchronization

/// A group of subtitle outputs, all of which show the same subtitles.
public final class SubtitleOutputGroup: SubtitleOutput {
    /// A token that identifies an attached output, for ``SubtitleOutputGroup/detach(_:)``.
    public struct Attachment: Sendable, Hashable {
        fileprivate let number: Int
    }

    private struct State {
        var outputs: [(number: Int, output: any SubtitleOutput)] = []
        var count = 0
        var current: [SubtitleCue] = []
    }

    private let state = Mutex(State())

    /// Creates a group without outputs.
    public init() {}

    /// Attaches an output, which shows the current subtitles at once.
    ///
    /// - Parameter output: The output, such as a window.
    /// - Returns: A token for ``detach(_:)``.
    @discardableResult
    public func attach(_ output: any SubtitleOutput) -> Attachment {
        let (attachment, cues) = state.withLock { state in
            state.count += 1
            state.outputs.append((state.count, output))
            return (Attachment(number: state.count), state.current)
        }
        if !cues.isEmpty { output.show(cues) }
        return attachment
    }

    /// Detaches an output and removes its subtitles; there is no effect if it is already detached.
    ///
    /// - Parameter attachment: The token that ``attach(_:)`` returned.
    public func detach(_ attachment: Attachment) {
        let removed = state.withLock { state in
            state.outputs.firstIndex { $0.number == attachment.number }.map { state.outputs.remove(at: $0).output }
        }
        removed?.show([])
    }

    /// Shows cues in all attached outputs.
    public func show(_ cues: [SubtitleCue]) {
        let outputs = state.withLock { state in
            state.current = cues
            return state.outputs
        }
        for output in outputs { output.output.show(cues) }
    }
}
