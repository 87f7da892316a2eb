public import ResourceAddressing

/// Why something cannot be played, or not be played on.
public struct StreamingError: Error, Sendable {
    /// What kind of failure; more may come.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// A short spelling that stays the same.
        public let rawValue: String

        /// Makes a code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It is neither a stream nor a file of a kind that is known.
        public static let notRecognized = Code(rawValue: "not-recognized")
        /// It is a stream of another kind, which has to be translated first.
        public static let needsTranslation = Code(rawValue: "needs-translation")
        /// It is a playlist that says nothing that could be played.
        public static let unreadablePlaylist = Code(rawValue: "unreadable-playlist")
        /// Nothing of it can be decoded.
        public static let unsupported = Code(rawValue: "unsupported")
        /// It is protected by a system that is not supported.
        public static let protected = Code(rawValue: "protected")
        /// It cannot be had from the server.
        public static let notLoaded = Code(rawValue: "not-loaded")
        /// The network is gone.
        public static let unreachable = Code(rawValue: "unreachable")
        /// A key is missing or wrong.
        public static let keyNotLoaded = Code(rawValue: "key-not-loaded")
        /// A live playlist has had no new segments for too long, or nothing that can be played is awaited any more.
        public static let stuck = Code(rawValue: "stuck")
        /// Too much of it in a row is damaged or missing.
        public static let damaged = Code(rawValue: "damaged")
        /// The decoder or a device is gone.
        public static let pipelineLost = Code(rawValue: "pipeline-lost")
    }

    /// What kind of failure.
    public let code: Code
    /// What happened, and what to do, for a person.
    public let message: String
    /// What it is about.
    public let address: ResourceAddress?
    /// The status of HTTP, where one was the cause.
    public let status: Int?
    /// What led to it.
    public let cause: (any Error)?

    /// Makes an error.
    public init(
        _ code: Code,
        _ message: String,
        address: ResourceAddress? = nil,
        status: Int? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.address = address
        self.status = status
        self.cause = cause
    }

    /// Who says so, for logs: `HTTP`, `Network`, `Playlist`, `Media` or `Millstream`.
    var domain: String {
        guard status == nil else { return "HTTP" }
        return switch code {
        case .notLoaded, .unreachable: "Network"
        case .notRecognized, .needsTranslation, .unreadablePlaylist, .stuck: "Playlist"
        case .unsupported, .protected, .keyNotLoaded, .damaged: "Media"
        default: "Millstream"
        }
    }

    /// The number that AVFoundation has for failures of this kind, for logs that are read beside its own.
    public var number: Int {
        switch code {
        case .notRecognized: -11_828
        case .needsTranslation: -11_850
        case .unreadablePlaylist: -11_853
        case .unsupported: -11_833
        case .protected: -11_831
        case .notLoaded: -11_849
        case .unreachable: -11_863
        case .keyNotLoaded: -11_835
        case .stuck: -11_866
        case .damaged: -11_821
        case .pipelineLost: -11_819
        default: -11_800
        }
    }
}

extension StreamingError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}

extension StreamingError {
    /// Returns the error of an item that has no variant that can be played.
    static func nothingPlayable(_ presentation: Presentation, at address: ResourceAddress) -> StreamingError {
        let obstacles = presentation.unplayable.flatMap(\.obstacles)
        let isProtected = obstacles.contains { if case .keyFormats = $0 { true } else { false } }
        var seen: Set<String> = []
        let reasons = obstacles.map(\.description).filter { seen.insert($0).inserted }
        guard !reasons.isEmpty else {
            return StreamingError(
                .unreadablePlaylist,
                "the playlist names nothing that could be played",
                address: address
            )
        }
        return StreamingError(
            isProtected ? .protected : .unsupported,
            "none of the variants can be played: " + reasons.joined(separator: "; "),
            address: address
        )
    }
}
