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
    ///   - folder: The folder; the initializer returns `nil` if it is none.
    ///   - path: The path of the request as it was received, which is unambiguous.
    init?(_ folder: URL, path: String) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue else {
            return nil
        }
        let prefix = path == "/" ? "/" : path + "/"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let entries = names.filter { !$0.hasPrefix(".") }.sorted().prefix(Self.maximumCount).map { name in
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(
                atPath: folder.appendingPathComponent(name).path,
                isDirectory: &isFolder
            )
            let shown = name + (exists && isFolder.boolValue ? "/" : "")
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
