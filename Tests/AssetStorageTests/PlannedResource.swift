import Foundation
import Testing

@testable import AssetStorage

/// An asset in a temporary library whose only segment is missing.
struct PlannedResource {
    let temporary: TemporaryLibrary
    let id: String
    /// The missing segment.
    let resource: StoredResource

    init() throws {
        temporary = try TemporaryLibrary()
        id = try temporary.planned(try TemporaryLibrary.media("#EXTINF:4,", "0.ts"))
        resource = try #require(try temporary.library.missingResources(id).first)
    }

    var library: AssetLibrary { temporary.library }

    /// Returns the path of a file beside the catalog.
    func path(_ name: String) -> String { temporary.directory.path + "/" + name }

    /// Writes a file beside the catalog.
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }
}
