import Dispatch
import Foundation
import MediaTransport
import Millstream
import MillstreamServer
import PlaylistEditing

// The code of the article "Loading resources with a delegate".
//
// Usage: LoadWithDelegate ADDRESS, such as the path of the sample stream fmp4/multivariant.m3u8 that Scripts/make-samples
// makes.

guard CommandLine.arguments.count == 2 else {
    print("usage: LoadWithDelegate ADDRESS")
    exit(64)
}
let argument = CommandLine.arguments[1]
let source = argument.contains("://") ? ResourceAddress(argument) : ResourceAddress(filePath: argument)
let scheme = source.scheme ?? "https"
let address = ResourceAddress("films" + source.text.dropFirst(scheme.count))
let keys: [String: [UInt8]] = [:]

/// A delegate that answers requests for keys, and leaves all other requests to the network.
final class KeyDelegate: AssetResourceLoaderDelegate {
    let keys: [String: [UInt8]]

    init(keys: [String: [UInt8]]) { self.keys = keys }

    func resourceLoader(
        _ resourceLoader: AssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AssetResourceLoadingRequest
    ) -> Bool {
        guard loadingRequest.request.kind == .key else { return false }
        guard let key = keys[loadingRequest.request.address.lastPathComponent] else {
            loadingRequest.response = AssetResourceResponse(status: 404)
            loadingRequest.finishLoading()
            return true
        }
        loadingRequest.contentInformationRequest.contentLength = Int64(key.count)
        loadingRequest.dataRequest.respond(with: key)
        loadingRequest.finishLoading()
        return true
    }
}

let delegate = KeyDelegate(keys: keys)
var options = AssetOptions()
options.originalSchemes = ["films": scheme]
let asset = Asset(address, options: options)
asset.resourceLoader.setDelegate(delegate, queue: DispatchQueue(label: "keys"))
let duration = try await asset.load(.duration)
print(duration.map { "\($0)" } ?? "live")

let network = SchemeTransport(http: HTTPTransport(), file: FileTransport())
let edits = EditPlan([.duration(MediaTime(seconds: 8))])
let editingDelegate = PlaylistEditingDelegate(edits, loadingFrom: network)
let preview = Asset(address, options: options)
preview.resourceLoader.setDelegate(editingDelegate, queue: DispatchQueue(label: "edits"))
let previewDuration = try await preview.load(.duration)
print(previewDuration.map { "\($0)" } ?? "live")

guard let previewDuration, let duration, previewDuration <= MediaTime(seconds: 8), previewDuration < duration else {
    print("the preview has the wrong length")
    exit(1)
}
