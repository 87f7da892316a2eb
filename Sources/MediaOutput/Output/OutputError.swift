/// Why pictures or sound could not be put out.
public struct OutputError: Error, Sendable, Hashable {
    /// What kind of failure, in a bounded set of short spellings that logs and metrics can count.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The spelling.
        public let rawValue: String

        /// Makes a code of a spelling.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// There is no display, or no window could be made on it.
        public static let noWindow = Code(rawValue: "no-window")
        /// There is no sound device, or it does not open.
        public static let noSoundDevice = Code(rawValue: "no-sound-device")
        /// The sound device went away while it played.
        public static let soundDeviceLost = Code(rawValue: "sound-device-lost")
        /// More sound was handed over than the queue holds.
        public static let queueFull = Code(rawValue: "queue-full")
        /// Sound came in another format than the output was started with, or before it was started.
        public static let wrongFormat = Code(rawValue: "wrong-format")
        /// A file could not be made or written: no space, no folder, no permission.
        public static let fileFailed = Code(rawValue: "file-failed")
        /// The file format cannot hold that much.
        public static let tooLarge = Code(rawValue: "too-large")
        /// A picture was asked for at a time that was never shown.
        public static let noFrame = Code(rawValue: "no-frame")
        /// The pixels could not be converted.
        public static let notConvertible = Code(rawValue: "not-convertible")
        /// Text cannot be drawn: no font, or no library for it.
        public static let noText = Code(rawValue: "no-text")
    }

    /// What kind of failure.
    public let code: Code
    /// What happened, then what to do, for people.
    public let message: String
    /// The file that it is about, where it is about one.
    public let path: String?

    /// Makes an error.
    public init(_ code: Code, _ message: String, path: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
    }
}

extension OutputError: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String {
        guard let path, !message.contains(path) else { return message }
        return "\(path): \(message)"
    }
}
