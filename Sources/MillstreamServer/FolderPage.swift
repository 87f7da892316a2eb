import AssetStorage
import Foundation
import HTTPTypes
import Hummingbird
import ResourceAddressing

/// A page that lists the contents of a folder, with a link to each file and folder.
struct FolderPage {
    let response: Response

    /// The maximum number of entries on a page.
    private static let maximumCount = 10_000

    /// Creates the page of a folder.
    ///
    /// - Parameters:
    ///   - folder: The open folder; the initializer returns `nil` if it is none.
    ///   - url: The URL of the folder.
    ///   - path: The path of the request as it was received, which is unambiguous.
    init?(_ folder: ContainedFile?, at url: URL, path: String) {
        guard let folder, folder.kind == .folder else { return nil }
        let prefix = path == "/" ? "/" : path + "/"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        let entries = names.filter { !$0.hasPrefix(".") }.sorted().prefix(Self.maximumCount).compactMap { name in
            // Links are not served. An entry that the open folder does not have is from another folder.
            folder.kind(ofEntry: name).map { (name: name, isFolder: $0 == .folder) }
        }.map { name, isFolder in
            let shown = name + (isFolder ? "/" : "")
            let link = prefix + PercentEncoding.encode(name, allowing: PercentEncoding.pathBytes)
            return "<li><a href=\"\(Self.escaped(link))\">\(Self.escaped(shown))</a></li>\n"
        }
        let title = Self.escaped(PercentEncoding.decode(path) ?? path)
        let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        let up =
            path == "/" ? "" : "<li><a href=\"\(Self.escaped(parent.isEmpty ? "/" : String(parent)))\">../</a></li>\n"
        let page = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>\(title)</title></head>
            <body><h1>\(title)</h1>
            <ul>
            \(up)\(entries.joined())</ul></body></html>

            """
        response = Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: "default-src 'none'",
                .cacheControl: "no-cache",
            ],
            body: .init(byteBuffer: .init(string: page))
        )
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
