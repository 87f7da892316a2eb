public import MediaDecoding
import Synchronization

/// A video output that writes the decoded pixels of all frames to a file, plane by plane, without padding or headers.
///
/// The format is that of `ffmpeg -f rawvideo`, in the orientation in which the video is shown. The file contains neither sizes nor times; use ``FrameChecksumOutput`` in
/// addition to record them. The frame size changes if the stream switches to a variant of another size.
public final class RawFrameOutput: VideoOutput {
    private struct State: ~Copyable {
        var file: OutputFile?
    }

    private let state: Mutex<State>

    /// Creates the file.
    ///
    /// - Parameter path: The path of the file; an existing file is replaced.
    /// - Throws: ``OutputError`` with ``OutputError/Code/fileFailed``.
    public init(path: String) throws {
        let file = try OutputFile(path)
        state = Mutex(State(file: file))
    }

    /// Appends the pixels of a frame.
    public func show(_ frame: VideoFrame) throws {
        let bytes = frame.pixelBuffer.withPlanes { planes in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(planes.reduce(0) { $0 + $1.unpaddedBytesPerRow * $1.height })
            for plane in planes {
                for row in 0..<plane.height {
                    let start = row * plane.bytesPerRow
                    bytes.append(contentsOf: plane.bytes[start..<start + plane.unpaddedBytesPerRow])
                }
            }
            return bytes
        }
        try state.withLock { state in
            switch state.file {
            case .some(let file): try file.write(bytes)
            case .none: return
            }
        }
    }

    /// Closes the file.
    public func finish() throws {
        try state.withLock { state in
            guard let file = state.file.take() else { return }
            try file.finish()
        }
    }
}
