package import MediaTiming
package import ResourceAddressing

/// The reader of asset lists of interstitials, for programs that test it with arbitrary input.
package enum AssetListParser {
    /// Reads an asset list (RFC 8216bis §D.2).
    ///
    /// - Parameters:
    ///   - bytes: JSON.
    ///   - base: The address of the list.
    /// - Returns: The address and the duration of each asset, in order.
    /// - Throws: `DecodingError` where the bytes are not an asset list.
    package static func assets(
        _ bytes: [UInt8],
        at base: ResourceAddress
    ) throws -> [(address: ResourceAddress, duration: MediaTime?)] {
        try InterstitialAssetList(bytes, at: base).entries.map { ($0.address, $0.duration) }
    }
}
