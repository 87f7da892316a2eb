public import ResourceAddressing
import StreamingEngine

/// Why something could not be done with an asset, an item or a player.
public struct PlayerError: Error, Sendable {
    /// What kind of failure; more may come.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// A short spelling that stays the same.
        public let rawValue: String

        /// Makes a code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The item is in another player, or in this one already.
        public static let itemInUse = Code(rawValue: "item-in-use")
        /// The item after which another one was to be played is not in the queue.
        public static let itemNotQueued = Code(rawValue: "item-not-queued")
        /// The decoder or a device is gone.
        public static let mediaServicesLost = Code(rawValue: "media-services-lost")
        /// An asset could not be inspected.
        public static let notLoaded = Code(rawValue: "not-loaded")
        /// A load was cancelled.
        public static let cancelled = Code(rawValue: "cancelled")
    }

    /// What kind of failure.
    public let code: Code
    /// What happened, and what to do, for a person.
    public let message: String
    /// What it is about.
    public let address: ResourceAddress?
    /// What led to it.
    public let cause: (any Error)?

    /// Makes an error.
    public init(
        _ code: Code,
        _ message: String,
        address: ResourceAddress? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.address = address
        self.cause = cause
    }

    /// The failure of an item that takes the player with it.
    init(_ error: StreamingError) {
        self.init(
            .mediaServicesLost,
            "The decoder or a device is gone: \(error.message). Make a new player.",
            address: error.address,
            cause: error
        )
    }
}

extension PlayerError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
