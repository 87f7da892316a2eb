public import MediaDecoding
import Synchronization

/// A video output that writes one line per frame: its time, duration, size, pixel format and a checksum of its pixels.
///
/// ```
/// #time,duration,width,height,format,checksum
/// 0.08,0.04,640,360,yuv420p,9e107d9d372bb6826bd81d3542a419d6
/// ```
/// Times are in seconds. The checksum is the MD5 of the decoded pixels, plane by plane without padding. It equals that
/// of `ffmpeg -f framemd5` for the same pixel format. The size and the pixels are those after the rotation that the track
/// declares, as of FFmpeg without `-noautorotate`.
public final class FrameChecksumOutput: VideoOutput {
    private let output: Mutex<CollectedOutput>

    /// Creates the file.
    ///
    /// - Parameter path: The path of the file; an existing file is replaced.
    /// - Throws: ``OutputError`` with ``OutputError/Code/fileFailed``.
    public init(path: String) throws {
        let file = try OutputFile(path)
        output = Mutex(CollectedOutput(file, pending: Array("#time,duration,width,height,format,checksum\n".utf8)))
    }

    /// Appends the line of a frame.
    public func show(_ frame: VideoFrame) throws {
        let line = Self.line(frame)
        try output.withLock { output in
            output.pending += line.utf8
            if output.pending.count >= 32_768 { try output.write() }
        }
    }

    /// Writes the remaining lines and closes the file.
    public func finish() throws {
        try output.withLock { output in
            try output.write()
            guard let file = output.takeFile() else { return }
            try file.finish()
        }
    }

    static func line(_ frame: VideoFrame) -> String {
        let pixelBuffer = frame.pixelBuffer
        let format =
            switch pixelBuffer.format {
            case .other(let name): name
            case let known: "\(known)"
            }
        return
            "\(frame.time),\(frame.duration),\(pixelBuffer.width),\(pixelBuffer.height),\(format),\(pixelBuffer.checksum())\n"
    }
}
