import Foundation
import MediaTiming
import ResourceAddressing

/// What an X-ASSET-LIST says is to be played (RFC 8216bis §D.2).
struct InterstitialAssetList: Sendable, Hashable {
    /// One of the assets.
    struct Entry: Sendable, Hashable {
        let address: ResourceAddress
        let duration: MediaTime?
    }

    /// So many assets are played of one list at most.
    static let mostEntries = 100

    /// In the order in which they are played; none says that nothing is.
    let entries: [Entry]
    /// What the list says of the button to skip; `nil` where it says nothing.
    let skipControl: Skip?

    /// What takes the place of the attributes of the date range, each where it is there.
    struct Skip: Sendable, Hashable {
        let offset: MediaTime?
        let duration: MediaTime?
        let labelID: String?
    }

    /// Reads a list.
    ///
    /// - Parameters:
    ///   - bytes: JSON.
    ///   - base: Where it was found, for addresses that are not absolute, though they should be.
    /// - Throws: `DecodingError` where it is no such list.
    init(_ bytes: [UInt8], at base: ResourceAddress) throws {
        let written = try JSONDecoder().decode(Written.self, from: Data(bytes))
        entries = written.assets.prefix(Self.mostEntries).compactMap { asset in
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
    /// Takes over what a list says of the button to skip.
    mutating func adopt(_ skip: InterstitialAssetList.Skip?) {
        guard let skip, let offset = skip.offset ?? skipControl?.offset else { return }
        skipControl = SkipControl(
            offset: offset,
            duration: skip.duration ?? skipControl?.duration,
            labelID: skip.labelID ?? skipControl?.labelID
        )
    }
}
