import Foundation
import Millstream

// The code of the article "Playing interstitials".
//
// Usage: PlayInterstitials FILM TRAILER, such as the paths of the sample streams ts/multivariant.m3u8 and
// ad/multivariant.m3u8 that Scripts/make-samples makes. Two seconds of the trailer are played in the film.

guard CommandLine.arguments.count == 3 else {
    print("usage: PlayInterstitials FILM TRAILER")
    exit(64)
}
let trailer = URL(filePath: CommandLine.arguments[2])
let player = Player(url: URL(filePath: CommandLine.arguments[1]))

// Schedule events

let startTime = MediaTime(seconds: 1)
var event = InterstitialEvent(id: "trailer", at: startTime, .assets([Asset(url: trailer)]))
event.resumptionOffset = .zero
event.playoutLimit = MediaTime(seconds: 2)
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
