public import ResourceAddressing

/// An error of a video or audio output.
public struct OutputError: MillstreamError, Hashable {
    /// The kind of failure, from a bounded set of short names for logs and metrics.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The short name.
        public let rawValue: String

        /// Creates a code with a short name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// There is no display, or no window could be created on it.
        public static let noWindow = Code(rawValue: "no-window")
        /// There is no audio device, or it cannot be opened.
        public static let noAudioDevice = Code(rawValue: "no-sound-device")
        /// The audio device was lost during playback.
        public static let audioDeviceLost = Code(rawValue: "sound-device-lost")
        /// The samples exceed the capacity of the audio queue.
        public static let queueFull = Code(rawValue: "queue-full")
        /// The format of the audio differs from the one that the output was started with, or the output was not
        /// started.
        public static let wrongFormat = Code(rawValue: "wrong-format")
        /// A file could not be created or written, for example because of a missing folder or permission.
        public static let fileFailed = Code(rawValue: "file-failed")
        /// A file could not be created or written, because the disk or the quota of the user is full.
        public static let diskFull = Code(rawValue: "disk-full")
        /// The data exceeds the maximum size of the file format.
        public static let tooLarge = Code(rawValue: "too-large")
        /// No frame was shown at a requested time.
        public static let noFrame = Code(rawValue: "no-frame")
        /// The pixels could not be converted.
        public static let notConvertible = Code(rawValue: "not-convertible")
        /// Text cannot be drawn, because fonts or the text library are missing.
        public static let textUnavailable = Code(rawValue: "no-text")
        /// Some characters of a text cannot be drawn, because no installed font has them.
        public static let missingFont = Code(rawValue: "missing-font")
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the failure and what to do about it.
    public let message: String
    /// The path of the file that could not be written; `nil` if the error is not about a file.
    public let path: String?

    /// Creates an error.
    public init(_ code: Code, _ message: String, path: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
    }
}

extension OutputError {
    /// The message, preceded by the path if the message does not contain it.
    public var description: String {
        guard let path, !message.contains(path) else { return message }
        return "\(path): \(message)"
    }
}

extension OutputError.Code: ErrorCode {
    /// The codes of this version.
    public static let allCases: [Self] = [
        .noWindow, .noAudioDevice, .audioDeviceLost, .queueFull, .wrongFormat, .fileFailed, .diskFull, .tooLarge,
        .noFrame, .notConvertible, .textUnavailable, .missingFont,
    ]

    /// The code of the corresponding error of AVFoundation.
    public var number: Int? {
        switch self {
        case .wrongFormat, .notConvertible: -11_864
        case .noFrame: -11_832
        case .diskFull: -11_807
        default: nil
        }
    }
}
