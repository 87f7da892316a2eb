package import NIOCore

/// The recognition of the web pages, such as error and login pages, that servers send with status 200 instead of media.
package enum WebPage {
    /// Returns a Boolean value that indicates whether a body is an HTML page.
    ///
    /// The media type is not checked, because scripts that serve keys and media often send `text/html`.
    ///
    /// - Parameter buffer: The first bytes of the body.
    /// - Returns: A Boolean value that indicates whether they are the beginning of an HTML page.
    package static func isRecognized(in buffer: ByteBuffer) -> Bool {
        let start = buffer.readableBytesView.prefix(256).drop {
            [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0)
        }
        let text = String(decoding: start.prefix(14), as: UTF8.self).lowercased()
        return text.hasPrefix("<!doctype html") || text.hasPrefix("<html")
    }
}
