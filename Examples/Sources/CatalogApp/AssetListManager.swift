import Foundation
import Millstream

/// A stream of the catalog.
struct Stream: Hashable, Sendable {
    let name: String
    let url: URL
}

/// The list of the streams that the application offers, with the stored part of each.
struct AssetListManager {
    /// An entry of the list, as a row of a table shows it.
    struct Row {
        let stream: Stream
        let state: AssetPersistenceManager.DownloadState
        /// The action of the button of the row.
        var action: String {
            switch state {
            case .notDownloaded: "download"
            case .downloading: "cancel"
            case .downloaded: "delete"
            }
        }
    }

    let streams: [Stream]

    /// Reads a catalog in the form of Apple's sample: a property list with a list of names and playlist URLs.
    init(contentsOf catalog: URL) throws {
        struct Catalog: Decodable {
            struct Entry: Decodable {
                enum CodingKeys: String, CodingKey {
                    case name
                    case address = "playlist_url"
                }

                let name: String
                let address: String
            }

            enum CodingKeys: String, CodingKey {
                case streams = "Streams"
            }

            let streams: [Entry]
        }

        let entries = try PropertyListDecoder().decode(Catalog.self, from: Data(contentsOf: catalog)).streams
        streams = entries.compactMap { entry in
            URL(string: entry.address, relativeTo: catalog).map { Stream(name: entry.name, url: $0.absoluteURL) }
        }
    }

    func stream(named name: String) -> Stream? { streams.first { $0.name == name } }

    /// The rows of the table.
    func rows(_ persistence: AssetPersistenceManager) -> [Row] {
        streams.map { Row(stream: $0, state: persistence.state(of: $0)) }
    }
}
