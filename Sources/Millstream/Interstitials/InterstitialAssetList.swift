import Foundation
import MediaTiming
import ResourceAddressing

/// The contents of an X-ASSET-LIST (RFC 8216bis §D.2).
struct InterstitialAssetList: Sendable, Hashable {
    /// An asset of the list.
    struct Entry: Sendable, Hashable {
        let address: ResourceAddress
        let duration: MediaTime?
    }

    /// The maximum number of assets of a list that are played; the others are ignored.
    static let maximumEntries = 100

    /// The assets in the order in which they are played; an empty list means that nothing is played.
    let entries: [Entry]
    /// The skip control that the list declares; `nil` if it declares none.
    let skipControl: Skip?

    /// The values that replace those of the date range's attributes; `nil` values replace nothing.
    struct Skip: Sendable, Hashable {
        let offset: MediaTime?
        let duration: MediaTime?
        let labelID: String?
    }

    /// Creates an asset list by parsing it.
    ///
    /// - Parameters:
    ///   - bytes: The list, as JSON.
    ///   - base: The address of the list, to resolve relative addresses, although those of a list should be absolute.
    /// - Throws: `DecodingError` if the bytes are not an asset list.
    init(_ bytes: [UInt8], at base: ResourceAddress) throws {
        let written = try JSONDecoder().decode(Written.self, from: Data(bytes))
        entries = written.assets.prefix(Self.maximumEntries).compactMap { asset in
            guard let text = asset.uri, !text.isEmpty else { return nil }
            return Entry(address: base.resolving(text), duration: Self.time(asset.duration))
        }
        skipControl = written.skipControl.map {
            Skip(offset: Self.time($0.offset), duration: Self.time($0.duration), labelID: $0.labelID)
        }
    }

    private static func time(_ seconds: Double?) -> MediaTime? {
        seconds.flatMap { $0 < 0 ? nil : MediaTime(approximating: $0) }
    }

    private struct Written: Decodable {
        struct Asset: Decodable {
            let uri: String?
            let duration: Double?

            private enum CodingKeys: String, CodingKey {
                case uri = "URI"
                case duration = "DURATION"
            }
        }

        struct SkipControl: Decodable {
            let offset: Double?
            let duration: Double?
            let labelID: String?

            private enum CodingKeys: String, CodingKey {
                case offset = "OFFSET"
                case duration = "DURATION"
                case labelID = "LABEL-ID"
            }
        }

        let assets: [Asset]
        let skipControl: SkipControl?

        private enum CodingKeys: String, CodingKey {
            case assets = "ASSETS"
            case skipControl = "SKIP-CONTROL"
        }
    }
}

extension InterstitialEvent {
    /// Replaces the properties of the skip control that an asset list declares.
    mutating func apply(_ skip: InterstitialAssetList.Skip?) {
        guard let skip, let offset = skip.offset ?? skipControl?.offset else { return }
        skipControl = SkipControl(
            offset: offset,
            duration: skip.duration ?? skipControl?.duration,
            labelID: skip.labelID ?? skipControl?.labelID
        )
    }
}
