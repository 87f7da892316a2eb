import Foundation
import Millstream

// The code of the article "Playing interstitials".

/// A quarter of a second of silence: ten frames of MP3 with 128 kbit/s and 44,100 Hz.
let silence = Data((0..<10).flatMap { _ in [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413) })

/// Creates a stream of half a second in a directory.
func makeFilm(_ name: String, in folder: URL) throws -> URL {
    let playlist = """
        #EXTM3U
        #EXT-X-TARGETDURATION:1
        #EXTINF:0.25,
        \(name)0.mp3
        #EXTINF:0.25,
        \(name)1.mp3
        #EXT-X-ENDLIST

        """
    try Data(playlist.utf8).write(to: folder.appending(path: "\(name).m3u8"))
    for number in 0..<2 { try silence.write(to: folder.appending(path: "\(name)\(number).mp3")) }
    return folder.appending(path: "\(name).m3u8")
}

let folder = FileManager.default.temporaryDirectory.appending(path: "millstream-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let trailer = try makeFilm("trailer", in: folder)
let player = Player(url: try makeFilm("film", in: folder))

// Schedule events

let startTime = MediaTime(value: 1, timescale: 4)
var event = InterstitialEvent(id: "trailer", at: startTime, .assets([Asset(url: trailer)]))
event.resumptionOffset = .zero
event.restrictions = .requiresPlaybackAtPreferredRateForAdvancement
player.interstitialController.schedule([event])

// Observe events

let notifications = player.interstitialController.notifications
player.play()
for await notification in notifications {
    switch notification {
    case .currentEventDidChange(let event?): print("interstitial: \(event.id)")
    case .eventWasUnscheduled(let event, let error): print("\(event.id) is not played: \(error)")
    case .eventDidFinish(let event, let playoutTime, _): print("\(event.id): \(playoutTime)")
    default: break
    }
    if case .currentEventDidChange(nil) = notification { break }
}

// Show a skip button

for await state in player.interstitialController.values(of: \.skippability) {
    print(state == .eligible ? "[Skip]" : "")
    break
}

// Show an integrated timeline

for await duration in player.values(of: \.currentItem?.duration) where duration != nil { break }
if let timeline = player.interstitialController.integratedTimeline {
    for segment in timeline.segments { print(segment.event?.id ?? "the film", segment.target) }
}
