public import MediaDecoding

/// Hands frames to an application that draws for itself.
public struct FrameCallback: VideoOutput {
    private let onFrame: @Sendable (VideoFrame) -> Void
    private let onClear: @Sendable () -> Void

    /// Makes an output.
    ///
    /// - Parameters:
    ///   - onFrame: Called when the time of a frame has come, on the thread that decodes: what takes long delays the next frame.
    ///   - onClear: Called when there is no picture any more.
    public init(onFrame: @escaping @Sendable (VideoFrame) -> Void, onClear: @escaping @Sendable () -> Void = {}) {
        self.onFrame = onFrame
        self.onClear = onClear
    }

    /// Calls the application with the frame.
    public func show(_ frame: VideoFrame) { onFrame(frame) }

    /// Calls the application.
    public func clear() { onClear() }
}

/// Drops every frame.
public struct NoVideo: VideoOutput {
    /// Makes one.
    public init() {}

    /// Drops the frame.
    public func show(_ frame: VideoFrame) {}
}
