import CFFmpeg
import Foundation
import MediaTiming
public import ResourceAddressing

/// An error that occurred while media was demuxed, decrypted, decoded or converted.
public struct DecodingError: MillstreamError, Hashable {
    /// The kind of failure; the raw value is a stable short name for logs.
    public enum Code: String, ErrorCode {
        /// The bytes are not media in a supported format, or are too damaged to yield a single sample.
        case notReadable = "not-readable"
        /// No decoder or conversion is available.
        case unsupported
        /// Files of the requested type cannot contain the codec of a track.
        case unsupportedInFile = "unsupported-in-file"
        /// The samples are encrypted, and no key or no matching key was provided.
        case encrypted
        /// FFmpeg could not allocate memory.
        case outOfMemory = "out-of-memory"
        /// The disk or the quota of the user is full.
        case diskFull = "disk-full"
        /// An FFmpeg function returned an unexpected error.
        case failed

        /// The code of the corresponding error of AVFoundation.
        public var number: Int? {
            switch self {
            case .notReadable, .failed: -11_821
            case .unsupported: -11_833
            case .unsupportedInFile: -11_864
            case .encrypted: -11_831
            case .outOfMemory: -11_801
            case .diskFull: -11_807
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
            switch status {
            case cffmpeg_error_no_memory(): .outOfMemory
            case cffmpeg_error_invalid_data(): .notReadable
            // FFmpeg negates the error numbers of the system.
            case _ where DiskErrorNumber.isFull(0 -| status): .diskFull
            default: .failed
            }
        self.init(status: code, operation: "\(doing): \(Self.description(of: status))")
    }

    /// Creates an error from the error number of a failed system call.
    ///
    /// - Parameters:
    ///   - number: The error number (`errno`).
    ///   - doing: The operation that failed, as the start of the message.
    init(errorNumber number: Int32, operation doing: String) {
        let reason = unsafe String(cString: strerror(number))
        self.init(status: DiskErrorNumber.isFull(number) ? .diskFull : .failed, operation: "\(doing): \(reason)")
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
