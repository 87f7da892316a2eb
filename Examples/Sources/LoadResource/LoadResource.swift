import Foundation
import MediaTiming
import MediaTransport
import ResourceAddressing

// The code of the landing page of MediaTransport.

let file = FileManager.default.temporaryDirectory.appending(path: "millstream-\(UUID().uuidString).m3u8")
try Data("#EXTM3U\n".utf8).write(to: file)
defer { try? FileManager.default.removeItem(at: file) }
let address = ResourceAddress(filePath: file.path)

let http = HTTPTransport()
let loading = ResourceLoader(SchemeTransport(http: http, file: FileTransport()))
do {
    let loaded = try await loading.load(TransportRequest(address, kind: .playlist), limit: ByteCount(1 << 20))
    print(loaded.bytes.count, loaded.address)
} catch let error as TransportError {
    print(error.code.rawValue, error.message)
}
try await http.shutdown()
