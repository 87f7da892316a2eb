public import MediaDecoding
import Synchronization

/// Writes the pixels of frames as they were decoded, one after the other, plane by plane, without padding or headers.
///
/// What `ffmpeg -f rawvideo` writes. Sizes and times stand nowhere in it: ``FrameChecksums`` beside it has them. A stream
/// that changes between variants of other sizes changes the size of its frames.
public final class RawFrames: VideoOutput {
    private struct State: ~Copyable {
        var file: OutputFile?
    }

    private let state: Mutex<State>

    /// Makes the file.
    ///
    /// - Parameter path: Where; what is there is replaced.
    /// - Throws: ``OutputError`` with ``OutputError/Code/fileFailed``.
    public init(path: String) throws {
        let file = try OutputFile(path)
        state = Mutex(State(file: file))
    }

    /// Writes the pixels of a frame.
    public func show(_ frame: VideoFrame) throws {
        let bytes = frame.picture.withPlanes { planes in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(planes.reduce(0) { $0 + $1.visibleBytesPerRow * $1.rows })
            for plane in planes {
                for row in 0..<plane.rows {
                    let start = row * plane.bytesPerRow
                    bytes.append(contentsOf: plane.bytes[start..<start + plane.visibleBytesPerRow])
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
