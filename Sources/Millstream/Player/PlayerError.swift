public import ResourceAddressing
import StreamingEngine

/// An error of an asset, an item or a player.
public struct PlayerError: MillstreamError, Sendable {
    /// The kind of an error; later versions may add values.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// A short, stable identifier for logs.
        public let rawValue: String

        /// Creates a code.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The item is already in this player or in another one.
        public static let itemInUse = Code(rawValue: "item-in-use")
        /// The item after which another one was to be inserted is not in the queue.
        public static let itemNotQueued = Code(rawValue: "item-not-queued")
        /// The decoder or an output was lost, so that the player can no longer play.
        public static let mediaServicesLost = Code(rawValue: "media-services-lost")
        /// The audio device cannot be opened or was lost.
        public static let audioDeviceLost = Code(rawValue: "audio-device-lost")
        /// The asset could not be inspected.
        public static let notLoaded = Code(rawValue: "not-loaded")
        /// Loading was canceled.
        public static let cancelled = Code(rawValue: "cancelled")
    }

    /// The kind of the error.
    public let code: Code
    /// The description of the error and of what to do about it, for people.
    public let message: String
    /// The address that the error concerns; `nil` if there is none.
    public let address: ResourceAddress?
    /// The underlying error.
    public let cause: (any Error)?

    /// Creates an error.
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

    /// Creates the error of a player from the failure of an item that makes the player unusable.
    init(_ error: StreamingError) {
        self.init(
            .mediaServicesLost,
            "The decoder or a device was lost: \(error.message). Create a new player.",
            address: error.address,
            cause: error
        )
    }
}

extension PlayerError {
    /// The message of the error.
    public var description: String { message }
}

extension PlayerError.Code: ErrorCode {
    /// The codes of this version.
    public static let allCases: [Self] = [
        .itemInUse, .itemNotQueued, .mediaServicesLost, .audioDeviceLost, .notLoaded, .cancelled,
    ]

    /// The code of the corresponding error of AVFoundation.
    public var number: Int? {
        switch self {
        case .mediaServicesLost: -11_819
        case .notLoaded: -11_849
        case .cancelled: -11_878
        default: nil
        }
    }
}
