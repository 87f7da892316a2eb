import AssetStorage
import MediaTransport
public import ResourceAddressing

/// Why a download failed.
public struct DownloadError: Error, Sendable {
    /// What went wrong, in a bounded set of short spellings.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The spelling.
        public let rawValue: String

        /// Makes a code of a spelling.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The stream is live: it cannot be kept before it ends.
        public static let live = Code(rawValue: "live-stream")
        /// The source is no playlist.
        public static let notAPlaylist = Code(rawValue: "not-a-playlist")
        /// The content is protected by a system that is not supported.
        public static let contentProtected = Code(rawValue: "content-protected")
        /// Nothing of what was asked for is in the presentation.
        public static let nothingSelected = Code(rawValue: "nothing-selected")
        /// The download is larger than it may be.
        public static let tooLarge = Code(rawValue: "too-large")
        /// Bytes did not come.
        public static let transport = Code(rawValue: "transport")
        /// The library refused.
        public static let storage = Code(rawValue: "storage")
    }

    /// What went wrong.
    public let code: Code
    /// The more exact spelling of what lies beneath, or that of ``code``.
    public let detail: String
    /// What happened, for people.
    public let message: String
    /// What to do, where that is known.
    public let hint: String?
    /// The address it is about.
    public let address: ResourceAddress?
    /// The error that led to it.
    public private(set) var cause: (any Error)?

    init(_ code: Code, _ message: String, hint: String? = nil, address: ResourceAddress? = nil, detail: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.address = address
        self.detail = detail ?? code.rawValue
    }

    init(_ error: TransportError) {
        self.init(.transport, error.description, address: error.address, detail: error.code.rawValue)
        cause = error
    }

    init(_ error: StorageError) {
        let hint: String? =
            switch error.code {
            case .full: "free some space, then run the same command again: it goes on where it stopped"
            case .busy: "wait until it has ended, or stop it"
            default: nil
            }
        self.init(.storage, error.message, hint: hint, detail: error.code.rawValue)
    }
}

extension DownloadError: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String { message }
}
