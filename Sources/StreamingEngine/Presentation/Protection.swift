package import HLSPlaylist
package import ResourceAddressing

/// The encryption of a segment or a media initialization section (RFC 8216bis §4.4.4.4).
package enum Protection: Sendable, Hashable {
    /// No encryption.
    case none
    /// Encryption of the entire resource, which is decrypted before parsing (`AES-128`, `AES-256-GCM`).
    case wholeResource(KeyReference)
    /// Encryption of samples, which the decoder decrypts (`SAMPLE-AES`, `SAMPLE-AES-CTR`).
    case samples(KeyReference)
    /// Encryption that is not supported.
    case unsupported(UnsupportedReason)

    /// The reason for which encrypted media cannot be played.
    package enum UnsupportedReason: Sendable, Hashable {
        /// Only DRM systems with the given key formats provide the keys.
        case keyFormats([String])
        /// The encryption method is unknown.
        case method(String)
        /// The key has no URL.
        case missingKeyAddress
        /// The initialization vector is not a hexadecimal number of at most 128 bits.
        case invalidInitializationVector
        /// A media initialization section with `AES-128` has no initialization vector, which is required (§4.4.4.5).
        case missingInitializationVector
    }

    /// The required key, or `nil` if there is none.
    package var key: KeyReference? {
        switch self {
        case .wholeResource(let key), .samples(let key): key
        case .none, .unsupported: nil
        }
    }

    /// The reason for which the media cannot be played, or `nil` if it can.
    package var unsupportedReason: UnsupportedReason? {
        if case .unsupported(let refusal) = self { refusal } else { nil }
    }
}

extension Protection.UnsupportedReason: CustomStringConvertible {
    /// The reason in words, as the continuation of a sentence.
    package var description: String {
        switch self {
        case .keyFormats(let formats): "its keys are only in the format \(formats.joined(separator: " or "))"
        case .method(let method): "the encryption method \(method) is not supported"
        case .missingKeyAddress: "its key has no URI"
        case .invalidInitializationVector:
            "its initialization vector is not a hexadecimal number of at most 128 bits"
        case .missingInitializationVector: "its initialization section has no initialization vector"
        }
    }
}

/// A key with the parameters of its use.
package struct KeyReference: Sendable, Hashable {
    /// The encryption method.
    package let method: EncryptionKey.Method
    /// The URL of the key, which has 16 bytes, or 32 for `AES-256-GCM`.
    package let address: ResourceAddress
    /// The initialization vector, 16 bytes; `nil` for `AES-256-GCM`, whose segments begin with their own (§4.4.4.4).
    package let initializationVector: [UInt8]?
    /// A Boolean value that indicates whether the playlist contains the initialization vector.
    ///
    /// Otherwise it is the media sequence number. fMP4 with sample encryption contains its own vectors, which have
    /// priority over the media sequence number.
    package let isInitializationVectorExplicit: Bool
}

extension Protection {
    /// Creates the protection for the keys of a segment; of several key formats, `identity` is used (§4.4.4.4).
    ///
    /// - Parameters:
    ///   - keys: The keys, one for each key format; may be empty.
    ///   - sequence: The media sequence number, which is the default initialization vector; `nil` for a media
    ///     initialization section.
    init(_ keys: [EncryptionKey], sequence: Int64?) {
        guard !keys.isEmpty else {
            self = .none
            return
        }
        guard let key = keys.first(where: \.isIdentity) else {
            self = .unsupported(.keyFormats(keys.map(\.keyFormat)))
            return
        }
        self = Self.identity(key, sequence: sequence)
    }

    private static func identity(_ key: EncryptionKey, sequence: Int64?) -> Protection {
        guard let address = key.address, key.uri?.isEmpty == false else { return .unsupported(.missingKeyAddress) }
        func reference(_ vector: [UInt8]?) -> KeyReference {
            KeyReference(
                method: key.method,
                address: address,
                initializationVector: vector,
                isInitializationVectorExplicit: key.initializationVector != nil
            )
        }
        switch key.method {
        case .aes256GCM:
            return .wholeResource(
                KeyReference(
                    method: key.method,
                    address: address,
                    initializationVector: nil,
                    isInitializationVectorExplicit: false
                )
            )
        case .aes128, .sampleAES, .sampleAESCTR:
            let isWhole = key.method == .aes128
            if key.initializationVector == nil, sequence == nil {
                // An initialization section contains no samples, so only encryption of the entire section requires a
                // vector.
                return isWhole ? .unsupported(.missingInitializationVector) : .samples(reference(nil))
            }
            guard let vector = key.vector(forSequence: sequence ?? 0) else {
                return .unsupported(.invalidInitializationVector)
            }
            return isWhole ? .wholeResource(reference(vector)) : .samples(reference(vector))
        default:
            return .unsupported(.method(key.method.rawValue))
        }
    }
}
