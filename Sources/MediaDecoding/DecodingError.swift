import CFFmpeg

/// Why media could not be taken apart, decoded or converted.
public struct DecodingError: Error, Sendable, Hashable {
    /// What kind of failure; the raw value is a stable short name for logs.
    public enum Code: String, Sendable, Hashable {
        /// The bytes are no media that is read here, or too damaged for a single sample.
        case notReadable = "not-readable"
        /// There is no decoder or conversion for it.
        case unsupported
        /// The samples are encrypted and no key, or none that fits, was given.
        case encrypted
        /// FFmpeg had no memory left.
        case outOfMemory = "out-of-memory"
        /// FFmpeg refused something that it should have taken.
        case failed
    }

    /// What kind of failure.
    public let code: Code
    /// What happened.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Makes an error of what an FFmpeg function returned.
    init(_ status: Int32, _ doing: String) {
        let code: Code =
            status == cffmpeg_error_no_memory()
            ? .outOfMemory : status == cffmpeg_error_invalid_data() ? .notReadable : .failed
        self.init(code, "\(doing): \(Self.text(status))")
    }

    static let outOfMemory = DecodingError(.outOfMemory, "FFmpeg has no memory left")

    private static func text(_ status: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress, unsafe av_strerror(status, base, 128) >= 0 else {
                return "error \(status)"
            }
            return unsafe String(cString: base)
        }
    }
}
