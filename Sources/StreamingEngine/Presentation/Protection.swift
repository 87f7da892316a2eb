public import HLSPlaylist
public import ResourceAddressing

/// How a segment or an initialization is encrypted, as one who has to decrypt it sees it (RFC 8216bis §4.4.4.4).
public enum Protection: Sendable, Hashable {
    /// Not at all.
    case none
    /// As a whole: decrypt what was loaded before it is read (`AES-128`, `AES-256-GCM`).
    case wholeResource(KeyReference)
    /// Sample by sample: the decoder has to do it (`SAMPLE-AES`, `SAMPLE-AES-CTR`).
    case samples(KeyReference)
    /// In a way that cannot be undone here.
    case refused(Refusal)

    /// Why encrypted media cannot be played.
    public enum Refusal: Sendable, Hashable {
        /// All keys belong to systems of rights management, whose key formats these are.
        case keyFormats([String])
        /// The method is not known.
        case method(String)
        /// No address says where the key is.
        case keyAddressMissing
        /// The initialization vector is no hexadecimal number of at most 128 bits.
        case vectorUnreadable
        /// A map under `AES-128` does not say its initialization vector, as it has to (§4.4.4.5).
        case vectorMissing
    }

    /// The key that is needed; `nil` where none is.
    public var key: KeyReference? {
        switch self {
        case .wholeResource(let key), .samples(let key): key
        case .none, .refused: nil
        }
    }

    /// Why it cannot be played; `nil` where it can.
    public var refusal: Refusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }
}

/// A key and what it is used with.
public struct KeyReference: Sendable, Hashable {
    /// How to decrypt.
    public let method: EncryptionKey.Method
    /// Where the key is: plain octets, 16 of them or 32 for `AES-256-GCM`.
    public let address: ResourceAddress
    /// The initialization vector, 16 octets; `nil` for `AES-256-GCM`, whose segments begin with their own (§4.4.4.4).
    public let vector: [UInt8]?
    /// Whether the playlist says the vector; else it is the media sequence number.
    ///
    /// fMP4 that is encrypted by samples carries vectors of its own, which go before one that is not written.
    public let isVectorWritten: Bool
}

extension Protection {
    /// What the keys in force for a segment mean; of several formats, plain keys are taken (§4.4.4.4).
    ///
    /// - Parameters:
    ///   - keys: One for each key format, possibly none.
    ///   - sequence: The number that serves as initialization vector where none is written; `nil` for a map.
    init(_ keys: [EncryptionKey], sequence: Int64?) {
        guard !keys.isEmpty else {
            self = .none
            return
        }
        guard let key = keys.first(where: \.isIdentity) else {
            self = .refused(.keyFormats(keys.map(\.keyFormat)))
            return
        }
        self = Self.plain(key, sequence: sequence)
    }

    private static func plain(_ key: EncryptionKey, sequence: Int64?) -> Protection {
        guard let address = key.address, key.uri?.isEmpty == false else { return .refused(.keyAddressMissing) }
        func reference(_ vector: [UInt8]?) -> KeyReference {
            KeyReference(
                method: key.method,
                address: address,
                vector: vector,
                isVectorWritten: key.initializationVector != nil
            )
        }
        switch key.method {
        case .aes256GCM:
            return .wholeResource(
                KeyReference(method: key.method, address: address, vector: nil, isVectorWritten: false)
            )
        case .aes128, .sampleAES, .sampleAESCTR:
            let isWhole = key.method == .aes128
            if key.initializationVector == nil, sequence == nil {
                // Samples of a map do not exist; only the octets of a whole one need a vector.
                return isWhole ? .refused(.vectorMissing) : .samples(reference(nil))
            }
            guard let vector = key.vector(forSequence: sequence ?? 0) else { return .refused(.vectorUnreadable) }
            return isWhole ? .wholeResource(reference(vector)) : .samples(reference(vector))
        default:
            return .refused(.method(key.method.rawValue))
        }
    }
}
