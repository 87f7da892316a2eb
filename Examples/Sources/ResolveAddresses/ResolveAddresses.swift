import ResourceAddressing

// The code of the landing page of ResourceAddressing.

let playlist = ResourceAddress("https://cdn.example.com/film/main.m3u8?token=a%2Fb")
let segment = playlist.resolving("../720p/1.ts?sig=%7e")
print(segment.text)  // https://cdn.example.com/720p/1.ts?sig=%7e
print(segment)  // the same with its secret shortened, for messages and logs

precondition(segment.text == "https://cdn.example.com/720p/1.ts?sig=%7e")
