import CFFmpeg
public import ResourceAddressing

/// An error that occurred while media was demuxed, decrypted, decoded or converted.
public struct DecodingError: MillstreamError, Hashable {
    /// The kind of failure; the raw value is a stable short name for logs.
    public enum Code: String, ErrorCode {
        /// The bytes are not media in a supported format, or are too damaged to yield a single sample.
        case notReadable = "not-readable"
        /// No decoder or conversion is available.
        case unsupported
        /// The samples are encrypted, and no key or no matching key was provided.
        case encrypted
        /// FFmpeg could not allocate memory.
        case outOfMemory = "out-of-memory"
        /// An FFmpeg function returned an unexpected error.
        case failed

        /// The code of the corresponding error of AVFoundation.
        public var number: Int? {
            switch self {
            case .notReadable, .failed: -11_821
            case .unsupported: -11_833
            case .encrypted: -11_831
            case .outOfMemory: -11_801
            }
        }
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the failure.
    public let message: String

    /// Creates an error with a code and a message.
    public init(status code: Code, operation message: String) {
        self.code = code
        self.message = message
    }

    /// Creates an error from the status that an FFmpeg function returned.
    ///
    /// - Parameters:
    ///   - status: A negative `AVERROR` value.
    ///   - doing: The operation that failed, as the start of the message.
    init(status: Int32, operation doing: String) {
        let code: Code =
            status == cffmpeg_error_no_memory()
            ? .outOfMemory : status == cffmpeg_error_invalid_data() ? .notReadable : .failed
        self.init(status: code, operation: "\(doing): \(Self.description(of: status))")
    }

    static let outOfMemory = DecodingError(status: .outOfMemory, operation: "FFmpeg cannot allocate memory")

    private static func description(of status: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress, unsafe av_strerror(status, base, 128) >= 0 else {
                return "error \(status)"
            }
            return unsafe String(cString: base)
        }
    }
}
