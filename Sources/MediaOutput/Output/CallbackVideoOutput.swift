public import MediaDecoding

/// A video output that passes frames to closures, for applications that draw them.
public struct CallbackVideoOutput: VideoOutput {
    private let onFrame: @Sendable (VideoFrame) -> Void
    private let onClear: @Sendable () -> Void

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - onFrame: A closure called with each frame at its presentation time, on the thread that decodes. A slow
    ///     closure delays the next frame.
    ///   - onClear: A closure called when there is no longer a frame to show.
    public init(onFrame: @escaping @Sendable (VideoFrame) -> Void, onClear: @escaping @Sendable () -> Void = {}) {
        self.onFrame = onFrame
        self.onClear = onClear
    }

    /// Calls the closure for frames.
    public func show(_ frame: VideoFrame) { onFrame(frame) }

    /// Calls the closure for the removal of the frame.
    public func clear() { onClear() }
}

/// A video output that discards all frames.
public struct NullVideoOutput: VideoOutput {
    /// Creates an output.
    public init() {}

    /// Discards the frame.
    public func show(_ frame: VideoFrame) {}
}
